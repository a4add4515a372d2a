(section (atx_heading heading_content: (inline) @name)) @definition.namespace
(setext_heading heading_content: (paragraph (inline) @name)) @definition.namespace
(html_block) @comment
(fenced_code_block) @string
