"""`LabelAudit` in training loops that others have written.

from warlab.integrations import with_index                    # any DataLoader: batches also have the index
from warlab.integrations.lightning import AuditCallback       # pip install lightning
from warlab.integrations.hugging_face import record           # pip install transformers accelerate
"""

from warlab.integrations.indexed import INDEX, with_index

__all__ = ["INDEX", "with_index"]
