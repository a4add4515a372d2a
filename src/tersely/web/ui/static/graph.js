// Where the picture is wider than its frame, begins with the symbol that it is about.

const frame = document.querySelector(".picture");
const center = document.querySelector(".node.center");
if (frame && center) {
  const [outer, inner] = [frame.getBoundingClientRect(), center.getBoundingClientRect()];
  frame.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
}
