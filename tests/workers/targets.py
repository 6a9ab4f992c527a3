"""What the workers of the tests run, and whether a process has ended."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from pubench.workers.channel import Channel, Message
from pubench.workers.server import ForkedJob, serve_forks


def answer(channel: Channel, name: str = "") -> None:
    """Do what each request names, and answer it."""
    channel.die_with_host()
    print("this goes to the log")
    while (request := channel.receive()) is not None:
        match request["do"]:
            case "hoard":
                held = b"x" * int(request["bytes"])
                time.sleep(30)
                channel.send({"held": len(held)})
            case "hoard in a child":
                program = f"held = b'x' * {request['bytes']}; import time; time.sleep(30)"
                subprocess.run([sys.executable, "-c", program], check=False)
            case "sleep":
                channel.send({"pid": os.getpid()})
                time.sleep(30)
            case "kill itself":
                os.kill(os.getpid(), signal.Signals[request["signal"]])
            case "exit":
                sys.exit(request["code"])
            case "close its output":
                os.closerange(3, 100)
                time.sleep(30)
            case "talk":
                channel.send({"asks": 1})
                channel.send({"got": channel.receive()})
            case _:
                channel.send({"name": name, "said": request["do"], "variable": os.environ.get("VARIABLE")})


def serve(channel: Channel, name: str = "") -> None:
    """Fork a process per job."""
    jobs = 0

    def prepare(job: Message) -> ForkedJob:
        nonlocal jobs
        jobs += 1
        number = jobs

        def run(folder: Path) -> str:
            print("printed by the job")
            match job["do"]:
                case "sleep":
                    time.sleep(30)
                case "fail":
                    raise RuntimeError("It broke.")
                case "hoard":
                    held = b"x" * int(job["bytes"])
                    time.sleep(30)
                    print(len(held))
                case "fill the disk":
                    (folder / "result.json").mkdir()
                case "leave a child":
                    child = subprocess.Popen(["sleep", "30"])
                    (folder / "child").write_text(str(child.pid))
                    time.sleep(30)
                case "kill the server":
                    os.kill(os.getppid(), signal.SIGKILL)
                    time.sleep(30)
            return json.dumps({"name": name, "job": number, "said": job["do"], "pid": os.getpid()})

        return run

    serve_forks(channel, prepare)


def ends_soon(pid: int) -> bool:
    """Return whether a process ends within 5 s; in a container nobody may wait for it, so that it stays a zombie."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.Error:
            return True
        time.sleep(0.02)
    return False
