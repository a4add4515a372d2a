; called_by_runtime: start stop init handle_* terminate code_change child_spec format_status mount render update
; called_by_runtime: call run project application
(comment) @comment
[(string) (charlist) (sigil) (quoted_atom)] @string

(call target: (identifier) @_what (arguments . (alias) @name) (do_block) @body
  (#any-of? @_what "defmodule")) @definition.namespace
(call target: (identifier) @_what (arguments . (alias) @name) (do_block) @body
  (#any-of? @_what "defprotocol")) @definition.interface
(call target: (identifier) @_what (arguments . (alias) @name) (do_block) @body
  (#any-of? @_what "defimpl")) @definition.extension
(call target: (identifier) @_what
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
  ])
  (do_block)? @body
  (#any-of? @_what "def" "defp" "defdelegate" "defguard" "defguardp" "defn" "defnp")) @definition.clause
(call target: (identifier) @_what
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
  ])
  (do_block)? @body
  (#any-of? @_what "defmacro" "defmacrop")) @definition.macro
(call target: (identifier) @_what
  (arguments . [
    (binary_operator operator: _ @name)
    (unary_operator operator: _ @name)
    (block . [(binary_operator operator: _ @name) (unary_operator operator: _ @name)] .)
    (binary_operator
      left: [
        (binary_operator operator: _ @name)
        (unary_operator operator: _ @name)
        (block . [(binary_operator operator: _ @name) (unary_operator operator: _ @name)] .)
      ]
      operator: "when")
  ])
  (do_block)? @body
  (#not-eq? @name "when")
  (#any-of? @_what "def" "defp" "defguard" "defguardp" "defn" "defnp")) @definition.clause
(call target: (identifier) @_what
  (arguments . [
    (binary_operator operator: _ @name)
    (unary_operator operator: _ @name)
    (block . [(binary_operator operator: _ @name) (unary_operator operator: _ @name)] .)
    (binary_operator
      left: [
        (binary_operator operator: _ @name)
        (unary_operator operator: _ @name)
        (block . [(binary_operator operator: _ @name) (unary_operator operator: _ @name)] .)
      ]
      operator: "when")
  ])
  (do_block)? @body
  (#not-eq? @name "when")
  (#any-of? @_what "defmacro" "defmacrop")) @definition.macro
(unary_operator operator: "@" operand: (call target: (identifier) @_what
  (arguments . [
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")
    (binary_operator
      left: (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")
      operator: "when")
  ]))
  (#any-of? @_what "callback" "macrocallback")) @definition.clause
(unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))
  (#not-match? @name "^(doc|moduledoc|typedoc|spec|impl|type|typep|opaque|callback|behaviour|derive|compile|dialyzer|external_resource|after_compile|before_compile|on_load)$"))
  @definition.constant
(unary_operator operator: "@" operand: (call target: (identifier) @_what
  (arguments (binary_operator left: [(call target: (identifier) @name) (identifier) @name])))
  (#any-of? @_what "type" "typep" "opaque")) @definition.type
(call target: (identifier) @_what
  (arguments [
    (list (atom) @name)
    (keywords (pair key: (keyword) @name))
    (list (keywords (pair key: (keyword) @name)))])
  (#any-of? @_what "defstruct" "defexception")) @definition.field

(unary_operator operator: "@" operand: (call target: (identifier) @_what (arguments . [(string) (sigil)] @doc))
  (#any-of? @_what "doc" "typedoc"))
(unary_operator operator: "@" operand: (call target: (identifier) @_what (arguments . [(string) (sigil)] @doc.inside))
  (#eq? @_what "moduledoc"))

(call target: (identifier) @_what
  (arguments . (alias) @name (keywords (pair key: (keyword) @_as value: (alias) @qualifier)))
  (#eq? @_what "alias") (#match? @_as "^as:")) @reference.import
(call target: (identifier) @_what (arguments . (alias) @name)
  (#any-of? @_what "alias" "import" "require" "use")) @reference.import
(call target: (identifier) @_what
  (arguments . (dot left: (alias) @_base right: (tuple (alias) @name)))
  (#eq? @_what "alias")) @reference.import
(call target: (dot left: [(alias) (atom)] @qualifier right: (identifier) @name)) @reference.call
(call target: [(identifier) @name (dot right: (identifier) @name)]
  (#not-match? @name "^(def|defp|defdelegate|defguard|defguardp|defn|defnp|defmacro|defmacrop|defmodule|defprotocol|defimpl|defstruct|defexception|alias|import|require|use|case|cond|if|unless|for|with|try|receive|quote|unquote|raise|doc|moduledoc|spec|type|typep|opaque|impl|behaviour|callback)$")) @reference.call
(binary_operator operator: "|>" right: (identifier) @name) @reference.call
(unary_operator operator: "&" operand: (binary_operator operator: "/"
  left: (call target: (dot left: (alias) @qualifier right: (identifier) @name)))) @reference.call
(unary_operator operator: "&" operand: (binary_operator operator: "/"
  left: [(identifier) @name (call target: (dot right: (identifier) @name))])) @reference.call
