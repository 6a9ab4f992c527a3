"""What runs leave behind: immutable JSON files, one per run, that rankings and pages are made of.

    RunSpec -> Record -> KEY.json -> Record

The format is `record.schema.json`; files of its older versions are brought up to date when they are read. Records may
come from anybody, so nothing in a file is believed before it was checked.
"""
