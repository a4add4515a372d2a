(comment) @comment
[(string_lit) (heredoc_template)] @string

(block (identifier) @_block (string_lit) . (string_lit) @name . (block_start) @body
  (#any-of? @_block "resource" "data" "ephemeral")) @definition.struct
(block (identifier) @_block . (string_lit) @name . (block_start) @body
  (#any-of? @_block "module" "variable" "provider" "check" "run")) @definition.struct
(block (identifier) @_block . (string_lit) @name . (block_start) @body
  (#eq? @_block "output")) @definition.variable
(block (identifier) @_block (body (attribute (identifier) @name) @definition.variable)
  (#eq? @_block "locals"))

(block (identifier) @_block (body (attribute (identifier) @_source (expression (literal_value (string_lit) @name)))) 
  (#eq? @_block "module") (#eq? @_source "source")) @reference.import
(expression (variable_expr) . (get_attr (identifier) @name)) @reference.call
(expression (variable_expr (identifier) @_kind) . (get_attr) . (get_attr (identifier) @name)
  (#any-of? @_kind "data" "module")) @reference.call
(function_call . (identifier) @name) @reference.call
