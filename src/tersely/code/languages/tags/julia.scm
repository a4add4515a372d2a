; called_by_runtime: main __init__
[(line_comment) (block_comment)] @comment
[(string_literal) (command_literal)] @string

(module_definition name: (identifier) @name) @definition.namespace
(struct_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])]) @signature) @definition.struct
(abstract_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])]) @signature) @definition.interface
(struct_definition (typed_expression . (identifier) @name) @definition.field)
(function_definition (signature [
  (identifier) @name
  (call_expression . [(identifier) @name (field_expression (identifier) @name .)])
  (typed_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)]))
  (where_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)]))
  (where_expression . (typed_expression . (call_expression . (identifier) @name)))]) @signature) @definition.function
(macro_definition (signature (call_expression . (identifier) @name)) @signature) @definition.macro
(assignment . ([
  (call_expression . [(identifier) @name (field_expression (identifier) @name .)])
  (typed_expression . (call_expression . (identifier) @name))
  (where_expression . (call_expression . (identifier) @name))]) @signature) @definition.function
(const_statement (assignment . (identifier) @name)) @definition.constant
(module_definition (assignment . (identifier) @name) @definition.variable)
(source_file (assignment . (identifier) @name) @definition.variable)

((string_literal) @doc . [
  (function_definition) (macro_definition) (struct_definition) (abstract_definition) (assignment)
  (module_definition)])

(call_expression . (identifier) @_include (argument_list . (string_literal) @name)
  (#eq? @_include "include")) @reference.import
(using_statement (identifier) @name) @reference.import
(import_statement (identifier) @name) @reference.import
(selected_import . (identifier) @name) @reference.import
(call_expression . [(identifier) @name (field_expression (identifier) @name .)]) @reference.call
(broadcast_call_expression . [(identifier) @name (field_expression (identifier) @name .)]) @reference.call
(macro_identifier (identifier) @name) @reference.call
