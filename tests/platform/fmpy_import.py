"""Executed by Python on Linux and by Python on Windows: FMPy validates an FMU and simulates it.

    fmpy_import.py FMU RESULT.json
"""

import json
import sys

from fmpy import simulate_fmu
from fmpy.validation import validate_fmu

fmu, result = sys.argv[1:]
problems = validate_fmu(fmu)
trajectory = simulate_fmu(fmu)
columns = {name: [float(value) for value in trajectory[name]] for name in trajectory.dtype.names}
with open(result, "w", encoding="utf-8") as file:
    json.dump({"problems": problems, "trajectory": columns}, file)
