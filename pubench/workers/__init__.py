"""Work in processes of its own: started, limited in time and memory, watched, and ended with the host.

    host: worker (server on top of it) -> channel -> worker process: entry -> target, which limits and watch keep in bounds

A worker answers requests; a fork server runs each request in a new process that it forks. What a job is, nothing here knows.
"""
