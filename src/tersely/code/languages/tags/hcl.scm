(comment) @comment
[(string_lit) (heredoc_template)] @string
(attribute) @label

(block (identifier) @_block (string_lit) @qualifier . (string_lit) @name . (block_start) @body
  (#any-of? @_block "resource" "data" "ephemeral")) @definition.struct
(block (identifier) @_block . (string_lit) @name . (block_start) @body
  (#any-of? @_block "module" "variable" "provider" "check" "run")) @definition.struct
(block (identifier) @_block . (string_lit) @name . (block_start) @body
  (#eq? @_block "output")) @definition.variable
(block (identifier) @_block (body (attribute (identifier) @name) @definition.variable)
  (#eq? @_block "locals"))

(block (identifier) @_block (body (attribute (identifier) @_source (expression (literal_value (string_lit) @name)))) 
  (#eq? @_block "module") (#eq? @_source "source")) @reference.import
(expression (variable_expr (identifier) @_kind) . (get_attr (identifier) @name)
  (#any-of? @_kind "var" "local" "module")) @reference.call
(expression (variable_expr (identifier) @qualifier) . (get_attr (identifier) @name)
  (#not-any-of? @qualifier "var" "local" "module" "data" "each" "count" "self" "path" "terraform")) @reference.call
(expression (variable_expr (identifier) @_kind) . (get_attr) . (get_attr (identifier) @name)
  (#eq? @_kind "module")) @reference.call
(expression (variable_expr (identifier) @_kind) . (get_attr (identifier) @qualifier) . (get_attr (identifier) @name)
  (#eq? @_kind "data")) @reference.call
(function_call . (identifier) @name) @reference.call
