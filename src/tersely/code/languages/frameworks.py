"""Facts about frameworks beside the tables of `summaries`: the HTTP verbs in names, the collections
of a class's instances, and the members that classes inherit. `docs/frameworks.md` says how to add
to the tables.
"""

from __future__ import annotations

from tersely.code.expressions import GENERIC, TYPE_PARAMETER
from tersely.code.languages.model import Inherited, names

TOLD_VERBS = names("get post put patch delete")  # that tell routes of one path apart


def verb_of(name: str) -> str:
    """The verb of HTTP in the name of a function: `get`, `Get`, `GetMapping`; "" for any."""
    verb = name.lower().removesuffix("mapping")
    return verb if verb in TOLD_VERBS else ""


# members of a class of the framework that hold the instances of a class below it
INSTANCE_COLLECTIONS = names("Model.objects Model._default_manager Model.query")
# methods of these collections that return another one, or one of its elements
COLLECTION_VIEWS = names(
    "all filter filter_by exclude order_by select_related prefetch_related distinct iterator annotate only defer using"
)
COLLECTION_GETTERS = names(
    "first last create latest earliest one one_or_none scalar get_or_404 first_or_404 one_or_404"
)
_DRF_METHODS = names(
    "list create retrieve update partial_update destroy get_queryset get_object get_serializer_class "
    "perform_create perform_update perform_destroy"
)
_DJANGO_METHODS = names(
    "dispatch get post put patch delete head options get_context_data get_form get_form_class get_form_kwargs "
    "get_initial form_valid form_invalid get_success_url get_template_names test_func"
)
# Methods of a class that make a handler of it: the methods that the handler calls.
DISPATCHERS = {"as_view": tuple(sorted(_DJANGO_METHODS | _DRF_METHODS))}
# The entity type that a repository of Spring Data stores and returns.
_ENTITY = (TYPE_PARAMETER, None, "T")
_ENTITIES = (GENERIC, "List", (_ENTITY,))
_MAYBE_ENTITY = (GENERIC, "Optional", (_ENTITY,))
_REPOSITORY = Inherited(
    ("T", "ID"),
    {
        **dict.fromkeys(names("save saveAndFlush getOne getById getReferenceById"), _ENTITY),
        **dict.fromkeys(names("findAll findAllById saveAll saveAllAndFlush"), _ENTITIES),
        **dict.fromkeys(names("findById findOne"), _MAYBE_ENTITY),
    },
)
SPRING_REPOSITORIES = dict.fromkeys(
    names(
        "Repository CrudRepository ListCrudRepository PagingAndSortingRepository ListPagingAndSortingRepository "
        "JpaRepository MongoRepository JpaSpecificationExecutor"
    ),
    _REPOSITORY,
)
