[(comment) (marginalia)] @comment
(literal) @string

(create_table (object_reference name: (identifier) @name) (column_definitions)? @body) @definition.struct
(create_view (object_reference name: (identifier) @name) (create_query) @body) @definition.struct
(create_materialized_view (object_reference name: (identifier) @name)) @definition.struct
(create_function . (_) (object_reference name: (identifier) @name) (function_body) @body) @definition.function
(create_type (object_reference name: (identifier) @name)) @definition.type
(create_trigger . (_) . (_) . (object_reference name: (identifier) @name)) @definition.function
(create_index column: (identifier) @name) @definition.constant
(column_definition name: (identifier) @name) @definition.field
(cte . (identifier) @name) @definition.struct

(invocation (object_reference name: (identifier) @name)) @reference.call
(relation (object_reference name: (identifier) @name)) @reference.call
(from (object_reference name: (identifier) @name)) @reference.call
(insert (object_reference name: (identifier) @name)) @reference.call
(column_definition (object_reference name: (identifier) @name)) @reference.call
(create_index (object_reference name: (identifier) @name)) @reference.call
(create_trigger (object_reference name: (identifier) @name)) @reference.call
(alter_table (object_reference name: (identifier) @name)) @reference.call
