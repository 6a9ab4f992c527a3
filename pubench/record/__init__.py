"""Records: immutable JSON files, one per run, from which rankings and pages are made.

    RunSpec -> RecordDraft while the run goes on -> Record -> KEY.json -> Record

The format is `record.schema.json`; files of older versions are migrated when they are read. Records may come from
anybody, so every file is checked before its content is used.
"""
