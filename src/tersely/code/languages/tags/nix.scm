(comment) @comment
[(string_expression) (indented_string_expression)] @string

(binding attrpath: (attrpath) @name expression: (function_expression) @body) @definition.function
(binding attrpath: (attrpath) @name) @definition.variable

(apply_expression function: (variable_expression name: (identifier) @_import)
  argument: (path_expression) @name (#any-of? @_import "import" "callPackage")) @reference.import
(apply_expression function: (select_expression attrpath: (attrpath (identifier) @_import .))
  argument: (path_expression) @name (#any-of? @_import "callPackage")) @reference.import
(list_expression element: (path_expression) @name) @reference.import
(apply_expression function: [
  (variable_expression name: (identifier) @name)
  (select_expression attrpath: (attrpath attr: (identifier) @name .))]) @reference.call
