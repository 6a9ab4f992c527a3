"""AutoML benchmarking for positive-unlabeled learning on extremely imbalanced tables.

Every public name is listed once, in ``__init__.pyi``, and imported when first used: ``import pubench`` alone
loads no numerical library.
"""

import warnings

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

#: Former public names, and what they are called now.
_RENAMED = {"Blended": "BlendMethod", "Voter": "BlendMember"}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used; a former name warns and gives what it is called now."""
    if name not in _RENAMED:
        return _load(name)
    warnings.warn(
        f"pubench.{name} is deprecated; use pubench.{_RENAMED[name]}.", DeprecationWarning, stacklevel=2
    )
    return _load(_RENAMED[name])
