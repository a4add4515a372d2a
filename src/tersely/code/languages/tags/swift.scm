; called_by_runtime: callAsFunction makeIterator makeAsyncIterator next wrappedValue projectedValue buildBlock
; called_by_runtime: buildExpression buildOptional buildEither buildArray buildFinalResult
; called_by_runtime: buildLimitedAvailability buildPartialBlock hash encode subscript deinit init
; reaching_marks: @main @objc @IBAction @IBOutlet @_cdecl @UIApplicationMain @NSApplicationMain @Test
[(comment) (multiline_comment)] @comment
[(line_string_literal) (multi_line_string_literal) (raw_string_literal)] @string

(class_declaration declaration_kind: "class" name: (type_identifier) @name) @definition.class
(class_declaration declaration_kind: "actor" name: (type_identifier) @name) @definition.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @definition.enum
(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) @name .)) @definition.extension
(protocol_declaration name: (type_identifier) @name) @definition.interface
(typealias_declaration name: (type_identifier) @name) @definition.type
(function_declaration "func" (simple_identifier) @name) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.function
(init_declaration "init" @name) @definition.method
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name) @definition.method
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (computed_property) @body) @definition.property
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field
(enum_entry name: (simple_identifier) @name) @definition.constant

(import_declaration (identifier) @name) @reference.import
(call_expression . [
  (simple_identifier) @name
  (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @name))]) @reference.call
(constructor_expression constructed_type: (user_type (type_identifier) @name .)) @reference.call
(navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @name)) @reference.call
