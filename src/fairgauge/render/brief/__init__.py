"""The brief: what a person without statistics reads of a result, as sentences of counts."""
