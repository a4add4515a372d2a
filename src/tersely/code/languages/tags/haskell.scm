; called_by_runtime: main
(haddock) @doc
[(comment) (haddock)] @comment
(string) @string

(data_type name: (name) @name) @definition.class
(newtype name: (name) @name) @definition.class
(type_synonym name: (name) @name) @definition.type
(class name: (name) @name) @definition.interface
(instance name: (name) @name) @definition.extension
(data_constructor constructor: (_ name: (constructor) @name)) @definition.constant
(newtype_constructor name: (constructor) @name) @definition.constant
(field name: (field_name (variable) @name)) @definition.field
(declarations [
  (signature name: (variable) @name)
  (function name: (variable) @name match: (_) @body)
  (bind name: (variable) @name match: (_) @body)] @definition.clause)
(class_declarations [
  (signature name: (variable) @name)
  (function name: (variable) @name match: (_) @body)
  (bind name: (variable) @name match: (_) @body)] @definition.clause)
(instance_declarations [
  (signature name: (variable) @name)
  (function name: (variable) @name match: (_) @body)
  (bind name: (variable) @name match: (_) @body)] @definition.clause)

(import module: (module) @name) @reference.import
(apply function: [(variable) @name (qualified id: (variable) @name)]) @reference.call
(apply argument: [(variable) @name (qualified id: (variable) @name)]) @reference.call
(infix_id [(variable) @name (qualified id: (variable) @name)]) @reference.call
(infix left_operand: (variable) @name) @reference.call
(infix right_operand: (variable) @name) @reference.call
(match expression: [(variable) @name (qualified id: (variable) @name)]) @reference.call
(exp (variable) @name) @reference.call
