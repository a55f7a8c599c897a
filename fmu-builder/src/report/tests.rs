use super::figures::{Curve, Figures, Port, Spectrum};
use super::text::significant;
use super::*;
use crate::analysis::verdict::Verdict;
use crate::decide::{
    AlternatingMode, Candidate, Certificate, Cost, Explored, ExploredRun, Stability, Switching, Times, Trial,
    WorstMode, WorstStep,
};
use crate::findings::Simulated;
use crate::structure::{Pattern, plan_parts};
use crate::summary::{
    Accuracy, DiscreteError, Mark, Moved, NamedError, NamedFigure, StepTime, Timeliness,
    Verdict as Judgement, WatchSummary,
};
use crate::warning::{Warning, Warnings};
use fmu_runtime::plan::{self, Events, Method, Model, Plan, States, Step, Variables};

const NASTY: &str = "<b>&\"";

fn plan() -> Plan {
    let pattern = Pattern::varying(3, [(1, 2), (2, 1), (2, 0), (2, 2)]);
    let (jacobian, elimination) = plan_parts(&pattern, &[true; 4], &[false; 4], 1e-3, &[]);
    Plan {
        version: plan::VERSION,
        model: Model {
            name: NASTY.into(),
            identifier: "model".into(),
            inner_guid: "{}".into(),
            guid: String::new(),
            log_categories: Vec::new(),
            can_get_and_set_state: false,
            can_serialize_state: false,
            provides_directional_derivative: false,
            instantiate_only_once: false,
            completed_step_needed: false,
            time_invariant: false,
            outputs_need_evaluation: false,
            writes_beyond: false,
        },
        step: Step { method: Method::Lie, h: 1e-3, substeps: 1, limit: 0.01 },
        watch: None,
        fallback: None,
        states: States {
            names: names(),
            references: vec![],
            derivative_references: vec![],
            nominals: vec![1.0; 3],
            sizes: vec![1.0; 3],
        },
        variables: Variables::default(),
        jacobian,
        elimination,
        events: Events {
            indicators: 1,
            bisections: 10,
            max_per_step: 4,
            max_iterations: 100,
            may_be_nan: false,
        },
        accuracy: None,
        diagnostics: vec![],
        inner: None,
        shell: None,
    }
}

fn names() -> Vec<String> {
    vec!["x".into(), NASTY.into(), "z".into()]
}

fn decision() -> Decision {
    let trial = |label: &str, error: Option<f64>, failed: Option<&str>, chosen| Trial {
        label: label.into(),
        method: "lie".into(),
        explored_error: error.map(|error: f64| 3.0 * error),
        policy: "rolling 1".into(),
        kept_nonzeros: 4,
        evaluations_per_step: 2.0,
        operations_per_step: 12_345,
        evaluations_worst_step: 6.0,
        error,
        longest_step_share: 0.01,
        failed: failed.map(String::from),
        lost: failed.map(String::from),
        chosen,
    };
    Decision {
        plan: plan(),
        candidate: Candidate { label: NASTY.into(), mask: crate::analysis::Mask::full(3), warning: None },
        simulated: Simulated { step_times: vec![1e-6, 2e-6, 3e-6], ..Simulated::default() },
        errors: vec![0.002],
        errors_but_for_lateness: vec![0.001],
        switching: vec![Switching { share: 0.25, delay: 2 }],
        explored_switching: Vec::new(),
        peaks: vec![],
        error: Some(0.002),
        has_moved: Moved { given: true, invented: true },
        explored: Explored::default(),
        told: vec![],
        verdict: Verdict { amplification: Some(0.5), ..Verdict::default() },
        samples: 3,
        cost: Cost::default(),
        worst_step: WorstStep::default(),
        certificate: Certificate::default(),
        spectra: vec![],
        tolerance: 0.01,
        trials: vec![
            trial("first", None, Some(NASTY), false),
            trial("second", Some(0.002), None, true),
            trial("third", None, None, false),
        ],
        times: Times::default(),
        missed: None,
        warnings: Warnings::new(),
    }
}

fn judgement() -> Judgement {
    let figure = |value| Some(NamedFigure { value, name: Some(NASTY.into()) });
    let accuracy = Accuracy {
        mark: Mark::Kept,
        tolerance: 0.01,
        peak_tolerance: None,
        given: figure(0.001),
        peak: figure(0.002),
        peak_time: Some(0.5),
        invented: figure(0.004),
        invented_runs: 2,
        moved: Moved { given: true, invented: true },
    };
    Judgement { accuracy: accuracy.judged(), time: Some(Timeliness::new(1e-3, None, 5e-5, Some(3e-6))) }
}

fn summary() -> Summary {
    let decision = decision();
    let port = || Port {
        name: NASTY.into(),
        unit: Some(NASTY.into()),
        kind: NASTY.into(),
        description: NASTY.into(),
    };
    Summary {
        verdict: judgement(),
        model: NASTY.into(),
        generation_tool: NASTY.into(),
        states: 3,
        event_indicators: 1,
        inputs: 1,
        outputs: 1,
        explicit_states: 1,
        implicit_states: 2,
        nonzeros: 4,
        kept_nonzeros: 4,
        factor_nonzeros: 5,
        blocks: 1,
        largest_block: 2,
        tears: 0,
        colours: 2,
        colours_per_step: 1,
        evaluations_per_step: 2.0,
        evaluations_per_communication_step: 3.0,
        evaluations_worst_communication_step: 9,
        error_estimate: None,
        evaluations_for_outputs: 1.0,
        operations_per_step: 12_345,
        evaluations_worst_step: 6.0,
        worst_step: WorstStep {
            events: 8,
            evaluations: 25.0,
            evaluations_one_event: 6.0,
            indicator_calls: 74,
            operations: 99_999,
            calls: 25,
        },
        jacobian: "every".into(),
        jacobian_source: "differences".into(),
        mode: "mixed".into(),
        partition: NASTY.into(),
        method: "lie".into(),
        order: 1,
        watch: Some(WatchSummary { threshold: 0.01, acts: true, renewals: 3, outside: 0 }),
        time_invariant: false,
        step: 1e-3,
        step_reason: NASTY.into(),
        substeps: 1,
        spectral_radius: Some(0.5),
        certificate: Certificate {
            worst_mode: Some(WorstMode { re: -1.0, im: 2.0, amplification: 0.5, states: names() }),
            d1: Some(0.1),
            d2: Some(0.2),
            shift_bound: Some(0.3),
            alternating_mode: Some(AlternatingMode { re: -0.5, im: 0.1, states: names() }),
            acceptance: Some(0.4),
            step_margin: Some(2.0),
            lengths: vec![1.0, 0.5],
            stable: true,
            stability: Stability::Stable,
            fully_implicit: Cost {
                evaluations_per_step: 3.0,
                operations_per_step: 54_321,
                ..Cost::default()
            },
        },
        error: decision.error,
        explored: Explored {
            scenarios: 2,
            error: Some(0.01),
            fresh_error: Some(0.02),
            runs: vec![ExploredRun {
                counts: true,
                name: NASTY.into(),
                error: Some(0.01),
                worst: Some(NASTY.into()),
                fresh_error: Some(0.02),
                outside: 3,
            }],
        },
        tolerance: decision.tolerance,
        trials: decision.trials.clone(),
        errors: vec![NamedError {
            name: NASTY.into(),
            error: 0.002,
            still: false,
            late: false,
            peak: 0.1,
            peak_time: 0.5,
        }],
        discrete_errors: vec![DiscreteError { name: NASTY.into(), share: 0.25, ..DiscreteError::default() }],
        reference_error: None,
        verified_from: 0.0,
        verified_to: 1.0,
        verified_on: "linux64",
        platforms: vec!["linux64".into()],
        platforms_missing: Vec::new(),
        samples: 24,
        events: 3,
        carried_events: 0,
        implicit: names(),
        computing: None,
        step_time_ns: StepTime::new(&[1e-6, 2e-6, 3e-6]),
        evaluation_time_ns: Some(123.0),
        evaluation_time_worst_ns: Some(150.0),
        indicator_time_ns: Some(20.0),
        longest_step_ns: Some(900.0),
        longest_step_share: Some(0.0009),
        ranges: vec![],
        warnings: [Warning::Halted(NASTY.into())].into_iter().collect(),
        repairs: vec![NASTY.into(); 2],
        written: NASTY.into(),
        figures: Figures {
            drawn: None,
            curves: vec![Curve {
                times: vec![0.0, 0.5, 1.0],
                name: NASTY.into(),
                unit: Some(NASTY.into()),
                description: Some(NASTY.into()),
                error: Some(0.002),
                reference: vec![0.0, 1.0, 2.0],
                built: vec![0.0, 1.1],
            }],
            compared: 1,
            noun: "output",
            errors_so_far: vec![],
            estimates: vec![],
            spectrum: Some(Spectrum {
                h: 1e-3,
                samples: 2,
                model: vec![(-1.0, 0.0), (-1e9, 2.0)],
                step: vec![(0.5, 0.0), (0.0, 0.1)],
                fastest: Some(1e-9),
                slowest: Some(1.0),
                period: Some(0.1),
                explicit_limit: 1e-9,
                growing: 1,
            }),
            inputs: vec![port()],
            diagnostics: vec![port()],
            documentation: Some("model.html".into()),
        },
    }
}

const SECTIONS: [&str; 6] = ["figures", "trajectories", "structure", "stability", "trials", "use"];

#[test]
fn every_section_is_there() {
    let (report, certificate) = (report(&summary(), &decision()), certificate(&summary(), &decision()));
    for section in SECTIONS {
        let id = format!("<section id=\"{section}\">");
        assert!(report.contains(&id) && certificate.contains(&id), "{section}");
    }
    for text in
        ["✓ Accurate</b>", "✓ In time</b>", "0.2 %", "✓ chosen", "not needed", "12\u{202f}345", "1 ms"]
    {
        assert!(report.contains(text), "{text}");
    }
    assert!(report.contains("<section id=\"steps\">") && !certificate.contains("<section id=\"steps\">"));
    assert_eq!(report.matches("<section").count(), report.matches("</section>").count());
    assert_eq!(report.matches("<svg").count(), report.matches("</svg>").count());
    assert!(
        !report.contains("http://")
            || report.matches("http").count() == report.matches("xmlns=\"http").count()
    );
}

#[test]
fn foreign_names_are_escaped() {
    let page = report(&summary(), &decision());
    assert!(!page.contains(NASTY) && !page.contains("<b>&"), "a name got through");
    assert!(page.matches("&lt;b&gt;&amp;&quot;").count() > 15);
}

/// Whatever was measured: same input, same bytes.
#[test]
fn the_certificate_is_free_of_measurements() {
    let (mut slow, mut slower) = (summary(), decision());
    slow.step_time_ns = StepTime::new(&[0.1, 0.2]);
    slow.evaluation_time_ns = Some(1e9);
    slower.simulated.step_times = vec![0.1, 0.2];
    let first = certificate(&summary(), &decision());
    assert_eq!(first, certificate(&slow, &slower));
    assert!(!first.contains("123 ns") && !first.contains("Step time"));
    assert!(report(&summary(), &decision()).contains("123 ns"));
}

/// The box of a page whose accuracy is as `change` makes it.
fn judged(change: impl Fn(&mut Accuracy)) -> String {
    let mut changed = summary();
    change(&mut changed.verdict.accuracy);
    changed.verdict.accuracy = changed.verdict.accuracy.judged();
    let page = report(&changed, &decision());
    page.split("<div class=\"verdict ").nth(1).and_then(|rest| rest.split("<h2").next()).unwrap().into()
}

#[test]
fn a_missed_tolerance_is_the_headline() {
    let missed = judged(|accuracy| accuracy.invented.as_mut().unwrap().value = 0.026);
    assert!(missed.starts_with("missed\""), "{missed}");
    assert!(missed.contains("<div class=\"half missed\"><b>✗ Not accurate</b>"), "{missed}");
    assert!(missed.contains("<div class=\"half kept\"><b>✓ In time</b>"), "{missed}");
}

/// An error of zero of what stands still is not green, and the page says what to do.
#[test]
fn nothing_that_moved_is_not_verified() {
    let still = judged(|accuracy| {
        accuracy.moved = Moved { given: false, invented: true };
        accuracy.given.as_mut().unwrap().value = 0.0;
    });
    assert!(still.starts_with("unverified\""), "{still}");
    assert!(
        still.contains("<div class=\"half unverified\"><b>? Not verified</b><p>Nothing moved"),
        "{still}"
    );
    assert!(still.contains("<code>--inputs</code>, or"), "{still}");
    // Nor is the error among the key figures.
    assert!(still.contains("largest error, on invented runs alone") && !still.contains(">largest error<"));
    let mut drawn = summary();
    drawn.figures.drawn = Some(NASTY.into());
    let page = report(&drawn, &decision());
    assert!(page.contains("This is an invented one, <b>&lt;b&gt;&amp;&quot;</b>,"), "the run that is drawn");
}

#[test]
fn the_order_is_the_methods() {
    for order in [1, 3] {
        let page = report(&Summary { order, ..summary() }, &decision());
        assert!(page.contains(&format!("The method is of order {order}:")), "{order}");
    }
}

/// Each plan with both errors and its worst step: 0.2 % on the given runs, three times that on invented ones.
#[test]
fn trials_tell_both_errors() {
    let page = report(&summary(), &decision());
    let row = page.split("<tr class=\"chosen\">").nth(1).and_then(|rest| rest.split("</tr>").next()).unwrap();
    let cells: Vec<&str> =
        row.split("<td").skip(1).filter_map(|cell| cell.split(['>', '<']).nth(1)).collect();
    assert_eq!(cells[4..], ["2", "6", "12\u{202f}345", "0.2 %", "0.6 %", "✓ chosen"], "{row}");
}

/// The script and its data are beside the FMU, not in it.
#[test]
fn only_the_report_is_interactive() {
    assert!(report(&summary(), &decision()).contains("id=\"curves\""));
    assert!(!certificate(&summary(), &decision()).contains("<script"));
}

/// A model without states has none of the data.
#[test]
fn nothing_to_draw_is_said() {
    let bare = Summary {
        states: 0,
        implicit_states: 0,
        error: None,
        errors: vec![],
        spectral_radius: None,
        certificate: Certificate::default(),
        step_time_ns: None,
        figures: Figures { noun: "output", ..Figures::default() },
        ..summary()
    };
    let mut nothing = decision();
    nothing.plan.states = States::default();
    nothing.plan.elimination = Default::default();
    nothing.simulated.step_times.clear();
    nothing.trials.clear();
    let page = report(&bare, &nothing);
    for section in SECTIONS {
        assert!(page.contains(&format!("<section id=\"{section}\">")), "{section}");
    }
    assert!(!page.contains("<svg") && !page.contains("id=\"steps\""));
}

/// Powers of ten are written as such, whatever 100 x 1e-6 is in floating point; plans that are all the same are no drawing.
#[test]
fn errors_against_cost_have_readable_ticks() {
    let of = |errors: [f64; 2]| {
        let mut trials = decision().trials;
        trials.truncate(2);
        trials.iter_mut().zip(errors).for_each(|(trial, error)| trial.error = Some(error));
        cost_plot::error_against_cost(&trials)
    };
    let picture = of([0.0, 0.002]).unwrap();
    for tick in [">0.0001 %<", ">0.001 %<", ">0.01 %<", ">0.1 %<"] {
        assert!(picture.contains(tick), "{tick} in {picture}");
    }
    assert_eq!(of([0.002, 0.002]), None);
    assert_eq!(of([0.0, 1e-9]), None, "both better than the accurate solution");
}

#[test]
fn numbers_are_readable() {
    for (value, text) in [
        (0.0, "0"),
        (0.000_123_4, "0.000123"),
        (0.1, "0.1"),
        (1.0, "1"),
        (12.345, "12.3"),
        (999.4, "999"),
        (12_345.6, "12\u{202f}346"),
        (2.5e7, "2.5·10⁷"),
        (1e-9, "1·10⁻⁹"),
    ] {
        assert_eq!(significant(value), text);
    }
}
