"""Simulate a Model-Exchange FMU with CVode and the Co-Simulation FMU made of it, both with FMPy, and plot the outputs."""

import sys

import fmpy
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main(exchange, realtime, picture):
    description = fmpy.read_model_description(realtime)
    experiment = description.defaultExperiment
    start, stop = float(experiment.startTime or 0), float(experiment.stopTime or 1)
    step = float(experiment.stepSize)
    outputs = [v.name for v in description.modelVariables if v.causality == "output" and v.type == "Real"]
    if not outputs:
        outputs = [v.derivative.name for v in description.modelVariables if v.derivative is not None]
    if len(outputs) > 4:  # a few of all kinds
        outputs = [outputs[i * (len(outputs) - 1) // 3] for i in range(4)]
    common = dict(start_time=start, stop_time=stop, output=outputs, validate=True)
    accurate = fmpy.simulate_fmu(
        exchange, fmi_type="ModelExchange", solver="CVode", relative_tolerance=1e-8,
        output_interval=(stop - start) / 1000, **common,
    )
    ours = fmpy.simulate_fmu(realtime, output_interval=step, **common)

    figure, axes = plt.subplots(len(outputs), 1, sharex=True, squeeze=False, figsize=(8, 1 + 1.7 * len(outputs)))
    units = {v.name: v.unit for v in description.modelVariables}
    for axis, name in zip(axes[:, 0], outputs):
        axis.plot(accurate["time"], accurate[name], color="0.75", linewidth=4, label="Model Exchange, CVode")
        axis.plot(ours["time"], ours[name], color="tab:blue", linewidth=1.2, label="fmu-build, Co-Simulation")
        axis.set_ylabel(f"{name} [{units[name] or '1'}]", rotation=0, ha="right", va="center")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, loc="best")
    axes[-1, 0].set_xlabel("time [s]")
    figure.suptitle(f"{description.modelName}, a step of {step:g} s", x=0.02, ha="left")
    figure.tight_layout()
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:4])
