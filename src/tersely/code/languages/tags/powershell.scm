; called_by_runtime: main
(comment) @comment
[(string_literal) (expandable_string_literal)] @string

(function_statement (function_name) @name (script_block)? @body) @definition.function
(class_statement . (simple_name) @name) @definition.class
(class_method_definition (simple_name) @name (script_block) @body) @definition.method
(class_property_definition (variable) @name) @definition.field
(enum_statement . (simple_name) @name) @definition.enum
(enum_member . (simple_name) @name) @definition.constant
(program (statement_list (pipeline (assignment_expression
  (left_assignment_expression) @name)) @definition.variable))

(command (command_invokation_operator) command_name: (_) @name) @reference.import
(command command_name: (command_name) @_command command_elements: (command_elements (generic_token) @name .)
  (#any-of? @_command "Import-Module" "using")) @reference.import
(command command_name: (command_name) @name) @reference.call
(invokation_expression (member_name (simple_name) @name)) @reference.call
