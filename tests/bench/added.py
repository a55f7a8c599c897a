"""What a step takes beside the evaluations that it must make: `tests/bench/run --added`.

Each model is built with the defaults and timed by `fmu-build bench`, which reads all outputs after each step. The evaluations that a step must make are those of its
method and, where time goes on before the next step begins, one for the outputs; the ratio is the median step over what these take at states of the same run.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = ["van-der-pol", "spring-pendulum", "dc-drive", "servo-valve", "pipe", "heat-rod", "arm", "many-indicators", "robot", "robot --method ros2"]


def said(*words):
    return json.loads(subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout)


def main(build, models):
    print("| model | states | indicators | one evaluation | method | evaluations in a step | step, median | step / its evaluations |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "in.fmu"), Path(folder, "out.fmu")
        for model in models:
            name, *options = model.split()
            subprocess.run([build, "example", name, given], check=True, capture_output=True)
            plan = said(build, given, made, "--json", *options)
            times = [said(build, "bench", made, "--json", "--steps", 20000) for _ in range(3)]
            # Noise only adds: the least of three.
            step = min(found["step_time_ns"]["p50"] for found in times)
            evaluation = min(found["evaluation_time_ns"] for found in times)
            count = plan["evaluations_per_step"] * plan["substeps"] + plan["evaluations_for_outputs"]
            print(f"| {model} | {plan['states']} | {plan['event_indicators']} | {evaluation:.0f} ns | {plan['method']} × {plan['substeps']} | {count:.2f} | {step:.0f} ns "
                  f"| {step / (count * evaluation):.2f} |", flush=True)


main(sys.argv[1], sys.argv[2:] or MODELS)
