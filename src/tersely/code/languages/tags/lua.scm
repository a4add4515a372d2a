[(comment) (hash_bang_line)] @comment
(string) @string

(function_declaration name: [
  (identifier) @name
  (dot_index_expression table: (_) @qualifier field: (identifier) @name)]) @definition.function
(function_declaration name: (method_index_expression table: (_) @qualifier method: (identifier) @name))
  @definition.method
(assignment_statement
  (variable_list . name: [
    (identifier) @name
    (dot_index_expression table: (_) @qualifier field: (identifier) @name)])
  (expression_list . value: (function_definition body: (_)? @body))) @definition.function
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @definition.function
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @definition.variable)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @definition.variable)

(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @qualifier)
  (expression_list . value: (function_call name: (identifier) @_require
    arguments: (arguments (string content: (string_content) @name))) @reference.import))
  (#eq? @_require "require"))
(function_call name: (identifier) @_require
  arguments: (arguments (string content: (string_content) @name))
  (#any-of? @_require "require" "dofile" "loadfile")) @reference.import
(function_call name: (dot_index_expression table: [(identifier) (dot_index_expression)] @qualifier
  field: (identifier) @name) (#not-eq? @qualifier "self")) @reference.call
(function_call name: (method_index_expression table: (identifier) @qualifier method: (identifier) @name)
  (#match? @qualifier "^[A-Z]")) @reference.call
(function_call name: [
  (identifier) @name
  (dot_index_expression field: (identifier) @name)
  (method_index_expression method: (identifier) @name)]) @reference.call
