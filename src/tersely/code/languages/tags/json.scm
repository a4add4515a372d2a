(pair key: (string (string_content) @name)) @definition.namespace
(comment) @comment
(string) @string
