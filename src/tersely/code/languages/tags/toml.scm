(pair . (_) @name) @definition.namespace
(table . (_) @name) @definition.namespace
(table_array_element . (_) @name) @definition.namespace
(comment) @comment
(string) @string
