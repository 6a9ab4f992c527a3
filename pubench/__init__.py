"""AutoML benchmarking for positive-unlabeled learning on extremely imbalanced tables.

Every public name is listed once, in ``__init__.pyi``, and imported when first used: ``import pubench`` alone
loads no numerical library.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
