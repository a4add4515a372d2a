((comment) @doc . [(value_specification) (type_definition) (module_definition) (module_type_definition) (external)])
(comment) @comment
(string) @string

(module_binding (module_name) @name) @definition.namespace
(module_type_definition (module_type_name) @name) @definition.interface
(class_type_binding (class_type_name) @name) @definition.class
(type_binding name: (type_constructor) @name) @definition.type
(constructor_declaration (constructor_name) @name) @definition.constant
(field_declaration (field_name) @name) @definition.field
(value_specification (value_name) @name) @definition.variable
(external (value_name) @name) @definition.function

(open_module module: (_) @name) @reference.import
