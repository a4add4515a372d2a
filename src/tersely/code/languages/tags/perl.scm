; called_by_runtime: new BUILD DESTROY AUTOLOAD import unimport BEGIN END main
[(comment) (pod)] @comment
[(string_literal) (interpolated_string_literal) (heredoc_content)] @string

(package_statement name: (package) @name) @definition.namespace
(subroutine_declaration_statement name: (bareword) @name) @definition.function
(method_declaration_statement name: (bareword) @name) @definition.function
(source_file (expression_statement (assignment_expression
  left: (variable_declaration variable: (_ (varname) @name)))) @definition.variable)
(use_statement module: (package) @_module (list_expression . (autoquoted_bareword) @name)
  (#eq? @_module "constant")) @definition.constant

(use_statement module: (package) @_module [
    (string_literal content: (string_content) @name)
    (quoted_word_list content: (string_content) @name)]
  (#any-of? @_module "parent" "base")) @reference.import
(use_statement module: (package) @name) @reference.import
(require_expression [
  (bareword) @name
  (string_literal content: (string_content) @name)
  (interpolated_string_literal content: (string_content) @name)]) @reference.import
(function_call_expression function: (function) @name) @reference.call
(ambiguous_function_call_expression function: (function) @name) @reference.call
(method_call_expression method: (method) @name) @reference.call
