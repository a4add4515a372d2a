; called_by_runtime: main panic
(comment) @comment
[(string) (multiline_string)] @string

(function_declaration name: (identifier) @name) @definition.function
(variable_declaration . (identifier) @name [(struct_declaration) (opaque_declaration)] @body) @definition.struct
(variable_declaration . (identifier) @name (union_declaration) @body) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration) @body) @definition.enum
(variable_declaration . (identifier) @name) @definition.variable
(enum_declaration (container_field name: (identifier) @name) @definition.constant)
(container_field name: (identifier) @name) @definition.field
(test_declaration (string) @name (block) @body) @definition.function

(builtin_function (builtin_identifier) @_builtin (arguments (string) @name)
  (#any-of? @_builtin "@import" "@cImport")) @reference.import
(call_expression function: [
  (identifier) @name
  (field_expression member: (identifier) @name)]) @reference.call
(struct_initializer (identifier) @name) @reference.call
