(block_mapping_pair key: (_) @name) @definition.namespace
(flow_pair key: (_) @name) @definition.namespace
(comment) @comment
[(double_quote_scalar) (single_quote_scalar) (block_scalar)] @string
