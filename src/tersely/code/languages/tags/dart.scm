; called_by_runtime: main build createState initState dispose didChangeDependencies didUpdateWidget toString
; called_by_runtime: hashCode noSuchMethod call
[(comment) (documentation_comment)] @comment
(string_literal) @string

(class_definition name: (identifier) @name) @definition.class
(mixin_declaration (identifier) @name (class_body) @body) @definition.trait
(enum_declaration name: (identifier) @name) @definition.enum
(enum_constant name: (identifier) @name) @definition.constant
(extension_declaration name: (identifier) @name) @definition.extension
(type_alias . (type_identifier) @name) @definition.type
((method_signature (function_signature name: (identifier) @name)) @definition.method . (function_body) @body)
((method_signature (getter_signature name: (identifier) @name)) @definition.property . (function_body) @body)
((method_signature (setter_signature name: (identifier) @name)) @definition.property . (function_body) @body)
((method_signature (operator_signature (binary_operator) @name)) @definition.method . (function_body) @body)
((method_signature (constructor_signature . (identifier) . (identifier) @name)) @definition.method
  . (function_body) @body)
((method_signature (constructor_signature . (identifier) @name . (formal_parameter_list))) @definition.method
  . (function_body) @body)
((method_signature (factory_constructor_signature . (identifier) . (identifier) @name)) @definition.method
  . (function_body) @body)
(declaration (function_signature name: (identifier) @name)) @definition.method
(declaration (getter_signature name: (identifier) @name)) @definition.property
(declaration (constructor_signature . (identifier) . (identifier) @name)) @definition.method
(declaration (constructor_signature . (identifier) @name . (formal_parameter_list))) @definition.method
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @definition.field
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @definition.constant
((function_signature name: (identifier) @name) @definition.function . (function_body) @body)
((getter_signature name: (identifier) @name) @definition.property . (function_body) @body)
(initialized_identifier_list (initialized_identifier . (identifier) @name)) @definition.variable
(static_final_declaration_list (static_final_declaration . (identifier) @name)) @definition.constant

(library_import (import_specification (configurable_uri (uri (string_literal) @name)))) @reference.import
(library_export (configurable_uri (uri (string_literal) @name))) @reference.import
(part_directive (uri (string_literal) @name)) @reference.import
(new_expression (type_identifier) @name) @reference.call
(const_object_expression (type_identifier) @name) @reference.call
((identifier) @name @reference.call . (selector (argument_part)))
((selector [
    (unconditional_assignable_selector (identifier) @name)
    (conditional_assignable_selector (identifier) @name)]) @reference.call . (selector (argument_part)))
(cascade_section (cascade_selector (identifier) @name)) @reference.call
