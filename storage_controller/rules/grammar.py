"""The grammar of rules, for lark's LALR parser with a contextual lexer.

A comma separates targets, actions, parameters and terms after TO. It ends an action if SET or DELETE follows, and a
target if a further kind of target does; one token of lookahead cannot tell, so these commas are separate tokens. Other
commas without a blank after them belong to a target's name.
"""

from __future__ import annotations

GRAMMAR = r"""
start: _FOR target (_ALSO target)* [_WHEN _condition] [_DO] actions ending*

target: KIND [_COLON] (PLACE | QUOTED)

_condition: any_of
any_of: all_of (_OR all_of)*
all_of: _term (_AND _term)*
_term: comparison | _OPEN any_of _CLOSE
comparison: WORD OPERATOR (VALUE | QUOTED)

actions: action (_NEXT action)*
action: VERB [only] FILTER [parameters] modifier*
parameters: _WITH parameter (_COMMA parameter)*
parameter: WORD _EQUALS (VALUE | QUOTED)
modifier: _ON SERVER -> server
        | DURATION   -> duration
        | CALLABLE   -> callable
        | only
only: _TO comparison ((_COMMA | _AND) comparison)*

ending: _REPLACES EXTENT -> replaces
      | MANDATORY       -> mandatory

_FOR.3: /FOR(?![\w-])/i
_WHEN.3: /WHEN(?![\w-])/i
_DO.3: /DO(?![\w-])/i
_AND.3: /AND(?![\w-])/i
_OR.3: /OR(?![\w-])/i
_WITH.3: /WITH(?![\w-])/i
_ON.3: /ON(?![\w-])/i
_TO.3: /TO(?![\w-])/i
_REPLACES.3: /REPLACES(?![\w-])/i
KIND.3: /(TENANT|CONTAINER|OBJECT|G)(?=[\s:"])/i
VERB.3: /(SET|DELETE)(?![\w-])/i
SERVER.3: /(PROXY|OBJECT)(?![\w-])/i
DURATION.3: /(TRANSIENT|PERSISTENT)(?![\w-])/i
CALLABLE.3: /CALLABLE(?![\w-])/i
EXTENT.3: /(ALL|SAME)(?![\w-])/i
MANDATORY.3: /MANDATORY(?![\w-])/i
OPERATOR.2: /[<>!=]=|[<>=]/
_EQUALS.2: "="
_COLON: ":"
_OPEN: "("
_CLOSE: ")"
_ALSO.4: /,\s*(?=(TENANT|CONTAINER|OBJECT|G)[\s:"])/i
_NEXT.4: /,\s*(?=(SET|DELETE)\s)/i
_COMMA: ","
PLACE: /[^\s":]([^\s",]|,(?!\s|(TENANT|CONTAINER|OBJECT|G)[\s:"]))*/i
FILTER: /\w[\w-]*/
WORD: /[^\W\d][\w.-]*/
VALUE: /[^\s,()<>=!"]+/
QUOTED: /"([^"\n]|"")*"/
%ignore /\s+/
"""

EXPECTED = {
    "_FOR": "FOR",
    "KIND": "TENANT, CONTAINER, OBJECT or G",
    "_COLON": ":",
    "PLACE": "a name",
    "QUOTED": '"text"',
    "_WHEN": "WHEN",
    "_DO": "DO",
    "VERB": "SET or DELETE",
    "_AND": "AND",
    "_OR": "OR",
    "_OPEN": "(",
    "_CLOSE": ")",
    "WORD": "a name",
    "OPERATOR": "> < >= <= = or !=",
    "VALUE": "a value",
    "FILTER": "a filter's name",
    "_WITH": "WITH",
    "_EQUALS": "=",
    "_NEXT": ", SET or , DELETE",
    "_COMMA": ",",
    "_ON": "ON",
    "SERVER": "PROXY or OBJECT",
    "DURATION": "TRANSIENT or PERSISTENT",
    "CALLABLE": "CALLABLE",
    "_TO": "TO",
    "_REPLACES": "REPLACES",
    "EXTENT": "ALL or SAME",
    "MANDATORY": "MANDATORY",
    "$END": "the end",
}
"""Name of each token in errors."""
