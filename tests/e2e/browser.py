"""A page in a real browser that runs on: headless Chromium, spoken to by its debugging protocol
over a pair of pipes. Standard library only."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time

from bench import Failure, Skipped, wait_for

ANSWER_S = 60


class Refused(Failure):
    """The browser answers that it cannot."""


class Browser:
    """One page. Use as a context manager."""

    def __init__(self, folder, width=1280, height=800):
        program = shutil.which("chromium")
        if program is None:
            raise Skipped("there is no chromium (deploy/install-deps --tests installs it)")
        self.profile = os.path.join(folder, "chromium")
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def place():  # it reads from descriptor 3 and writes to 4
            kept = os.dup(to_browser), os.dup(from_browser)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile}", f"--window-size={width},{height}"],
            preexec_fn=place, close_fds=False, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.unread = b""
        self.number = 0
        self.session = None
        self.complaints = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        # The last of its helpers may still be writing there.
        wait_for(self._removed, f"{self.profile} is removed")
        os.close(self.commands)
        os.close(self.answers)

    def _removed(self):
        shutil.rmtree(self.profile, ignore_errors=True)
        return not os.path.exists(self.profile)

    def open(self, url):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=url)
        wait_for(self._loaded, f"{url} is loaded", ANSWER_S, 0.1)

    def _loaded(self):
        try:
            return self.value("location.href !== 'about:blank' && "
                              "document.readyState === 'complete'")
        except Refused:  # as one page gives way to the next there is none to ask
            return False

    def value(self, expression):
        """Of a JavaScript expression in the page, as JSON has it."""
        return self.call("Runtime.evaluate", expression=expression,
                         returnByValue=True)["result"].get("value")

    def faults(self):
        """What the script complained of. A connection that the server ends as the browser takes
        it up is no fault of the script."""
        return [it for it in self.complaints if "Failed to load resource: net::" not in it]

    def text(self):
        return self.value("document.body.innerText")

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def dark(self, is_dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + ANSWER_S
        while True:
            answer = self._next(until - time.monotonic())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Refused(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self, seconds):
        while b"\0" not in self.unread:
            if not select.select([self.answers], [], [], max(seconds, 0))[0]:
                raise Failure("the browser does not answer")
            came = os.read(self.answers, 1 << 16)
            if not came:
                raise Failure("the browser has ended")
            self.unread += came
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        """What a page's script complains of."""
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"]["text"])
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(parameters["entry"]["text"])
