; called_by_runtime: main
(comment) @comment
[(string) (raw_string) (heredoc_body) (ansi_c_string)] @string

(function_definition name: (word) @name) @definition.function
(program (variable_assignment name: (variable_name) @name) @definition.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @definition.variable)

(command name: (command_name) @_command . argument: [(word) (string)] @name
  (#any-of? @_command "." "source")) @reference.import
(command name: (command_name (word) @name)) @reference.call
