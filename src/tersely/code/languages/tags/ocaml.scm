; called_by_runtime: main
((comment) @doc . [(value_definition) (type_definition) (module_definition) (module_type_definition)
  (class_definition) (value_specification) (external) (exception_definition) (method_definition)])
(comment) @comment
[(string) (quoted_string)] @string

(module_binding (module_name) @name) @definition.namespace
(module_type_definition (module_type_name) @name) @definition.interface
(class_binding (class_name) @name) @definition.class
(method_definition (method_name) @name) @definition.method
(type_binding name: (type_constructor) @name) @definition.type
(constructor_declaration (constructor_name) @name) @definition.constant
(field_declaration (field_name) @name) @definition.field
(compilation_unit (value_definition
  (let_binding pattern: (value_name) @name (parameter) body: (_) @body) @definition.function))
(compilation_unit (value_definition
  (let_binding pattern: (value_name) @name body: [(fun_expression) (function_expression)] @body) @definition.function))
(compilation_unit (value_definition (let_binding pattern: (value_name) @name) @definition.variable))
(structure (value_definition
  (let_binding pattern: (value_name) @name (parameter) body: (_) @body) @definition.function))
(structure (value_definition
  (let_binding pattern: (value_name) @name body: [(fun_expression) (function_expression)] @body) @definition.function))
(structure (value_definition (let_binding pattern: (value_name) @name) @definition.variable))
(value_specification (value_name) @name) @definition.variable
(external (value_name) @name) @definition.function

(open_module module: (_) @name) @reference.import
(include_module module: (_) @name) @reference.import
(application_expression function: (value_path (value_name) @name)) @reference.call
(application_expression argument: (value_path (value_name) @name)) @reference.call
(infix_expression (value_path (value_name) @name)) @reference.call
(method_invocation (method_name) @name) @reference.call
