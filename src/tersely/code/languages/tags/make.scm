; called_by_runtime: *
(comment) @comment
(raw_text) @string

(define_directive name: (word) @name) @definition.macro
(variable_assignment name: (word) @name) @definition.variable
(rule (targets (word) @name (#not-match? @name "^\\.")) @signature) @definition.function

(include_directive filenames: (list (word) @name)) @reference.import
(prerequisites (word) @name) @reference.call
(variable_reference (word) @name) @reference.call
