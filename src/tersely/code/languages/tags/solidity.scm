; called_by_runtime: constructor fallback receive
(comment) @comment
[(string) (string_literal)] @string

(contract_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(library_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name) @definition.struct
(struct_member name: (identifier) @name) @definition.field
(enum_declaration name: (identifier) @name) @definition.enum
(enum_value) @name @definition.constant
(event_definition name: (identifier) @name) @definition.struct
(error_declaration name: (identifier) @name) @definition.struct
(function_definition name: (identifier) @name) @definition.function
(modifier_definition name: (identifier) @name) @definition.function
(constructor_definition "constructor" @name) @definition.method
(fallback_receive_definition ["fallback" "receive"] @name) @definition.method
(state_variable_declaration name: (identifier) @name) @definition.field
(constant_variable_declaration name: (identifier) @name) @definition.constant

(import_directive source: (string) @name) @reference.import
(call_expression function: (expression [
  (identifier) @name
  (member_expression property: (identifier) @name)])) @reference.call
(emit_statement name: (expression (identifier) @name)) @reference.call
(revert_statement error: (expression (identifier) @name)) @reference.call
(modifier_invocation (identifier) @name) @reference.call
