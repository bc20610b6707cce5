from typing import TYPE_CHECKING as TYPE_CHECKING
from typing import Any as Any
from typing import Callable as Callable
from typing import Literal as Literal
from typing import NoReturn as NoReturn
from typing import Optional as Optional
from typing import TypeVar as TypeVar
from typing import overload as overload
