; called_by_runtime: apply unapply unapplySeq update foreach map flatMap withFilter filter selectDynamic
; called_by_runtime: applyDynamic updateDynamic equals hashCode toString readResolve
; reaching_marks: @main
[(comment) (block_comment)] @comment
[(string) (interpolated_string)] @string

(trait_definition name: (identifier) @name) @definition.trait
(enum_definition name: (identifier) @name) @definition.enum
(class_definition name: (identifier) @name) @definition.class
(object_definition name: (identifier) @name) @definition.class
(package_object name: (identifier) @name) @definition.namespace
(full_enum_case name: (identifier) @name) @definition.class
(simple_enum_case name: (identifier) @name) @definition.constant
(function_definition name: [(identifier) (operator_identifier)] @name) @definition.function
(function_declaration name: [(identifier) (operator_identifier)] @name) @definition.function
(given_definition name: (identifier) @name) @definition.variable
(val_definition pattern: (identifier) @name) @definition.variable
(var_definition pattern: (identifier) @name) @definition.variable
(val_declaration name: (identifier) @name) @definition.variable
(var_declaration name: (identifier) @name) @definition.variable
(class_parameter name: (identifier) @name) @definition.field
(type_definition name: (type_identifier) @name) @definition.type

(import_declaration) @reference.import
(call_expression function: [
  (identifier) @name
  (field_expression field: (identifier) @name)
  (generic_function function: [(identifier) @name (field_expression field: (identifier) @name)])]) @reference.call
(infix_expression operator: (identifier) @name) @reference.call
(instance_expression [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
  (stable_type_identifier (type_identifier) @name .)]) @reference.call
(field_expression field: (identifier) @name) @reference.call
