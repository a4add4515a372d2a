// Shows the ticket that the page was opened with, and takes it out of the address and the history.

const form = document.querySelector("form[data-sign-in]");
if (form) {
  history.replaceState(null, "", "/ui/login");
  form.requestSubmit();
}
