// Pick outputs, zoom, read values. The page is whole without this script: it shows the worst outputs over the whole run.
(() => {
    const { frame, time, curves } = JSON.parse(document.getElementById('curves').textContent);
    const plots = document.querySelector('#trajectories .plots');
    const whole = [curves[0].time[0], curves[0].time.at(-1)];
    let [from, to] = whole;

    const node = (name, text, parent, attributes = {}) => {
        const made = document.createElement(name);
        made.textContent = text;
        Object.assign(made, attributes);
        parent?.append(made);
        return made;
    };
    const escaped = text => node('i', text).innerHTML;
    const number = (value, digits) => {
        if (value === null || value === undefined) return '–';
        const size = Math.abs(value);
        const text = size && (size < 1e-3 || size >= 1e6) ? value.toExponential(digits - 1) : String(+value.toPrecision(digits));
        return text.replaceAll('-', '−');
    };

    // A linear axis from pixel a to pixel b, with ticks at 1, 2 or 5 times a power of ten.
    const axis = (low, high, a, b, about) => {
        const raw = (high - low) / about, power = 10 ** Math.floor(Math.log10(raw));
        const step = [1, 2, 5, 10].map(digit => digit * power).find(step => step >= 0.999 * raw);
        const ticks = [];
        for (let k = Math.ceil(low / step); k * step <= high && ticks.length < 20; k++) ticks.push(k * step);
        const digits = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / step)) + 1;
        return { at: value => a + (value - low) / (high - low) * (b - a), ticks, label: value => number(value, Math.min(digits, 9)) };
    };
    const room = (values, share) => {
        const drawn = values.filter(value => value !== null);
        let low = Math.min(...drawn), high = Math.max(...drawn);
        if (!drawn.length) [low, high] = [0, 1];
        const pad = high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high)) ? share * (high - low) : 0.1 * Math.abs(high) || 1;
        return [low - pad, high + pad];
    };
    const path = (kind, x, y, times, values) => {
        let pen = 'M', d = '';
        values.forEach((value, i) => {
            if (value === null || value === undefined) pen = 'M';
            else { d += `${pen}${x.at(times[i]).toFixed(1)} ${y.at(value).toFixed(1)}`; pen = 'L'; }
        });
        return `<path class="${kind}" d="${d}"/>`;
    };
    const text = (x, y, anchor, what) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(what)}</text>`;

    // The curve between `from` and `to`, in the places where the page drew the whole of it.
    const draw = ({ curve, svg }) => {
        const [first, last] = [index(curve.time, from), index(curve.time, to)];
        const cut = values => values.slice(Math.max(first - 1, 0), last + 2);
        const times = cut(curve.time).map(t => t * time.factor), accurate = cut(curve.accurate), deviation = cut(curve.deviation);
        const built = deviation.map((d, i) => d === null || accurate[i] === null ? null : accurate[i] + d);
        const { left, right, top, bottom, low_top, low_bottom } = frame;
        const x = axis(from * time.factor, to * time.factor, left, right, 6);
        const y = axis(...room([...accurate, ...built], 0.06), bottom, top, 4);
        const d = axis(...room([...deviation, 0], 0.1), low_bottom, low_top, 3);
        const clip = `clip-${curves.indexOf(curve)}`;
        let out = `<clipPath id="${clip}"><rect x="${left}" y="0" width="${right - left}" height="${low_bottom}"/></clipPath>`;
        for (const [scale, high, low] of [[y, top, bottom], [d, low_top, low_bottom]]) {
            for (const v of scale.ticks)
                out += `<path class="grid" d="M${left} ${scale.at(v)}H${right}"/>` + text(left - 6, scale.at(v) + 4, 'end', scale.label(v));
            for (const v of x.ticks) out += `<path class="grid" d="M${x.at(v)} ${high}V${low}"/>`;
            out += `<rect class="frame" x="${left}" y="${high}" width="${right - left}" height="${low - high}"/>`;
        }
        for (const v of x.ticks) out += text(x.at(v), low_bottom + 15, 'middle', x.label(v));
        out += text(left, top - 6, 'start', curve.unit) + text(left, low_top - 6, 'start', `deviation ${curve.unit}`);
        out += text((left + right) / 2, low_bottom + 33, 'middle', `time in ${time.unit}`);
        out += `<g clip-path="url(#${clip})">` + path('reference', x, y, times, accurate) + path('built', x, y, times, built)
            + `<path class="zero" d="M${left} ${d.at(0)}H${right}"/>` + path('deviation', x, d, times, deviation) + '</g>';
        svg.innerHTML = out;
    };
    // The last point that is not after t.
    const index = (times, t) => {
        let low = 0, high = times.length - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (times[middle] <= t) low = middle; else high = middle - 1;
        }
        return low;
    };

    const shown = [];
    const zoom = (a, b) => {
        [from, to] = [a, b];
        back.hidden = a === whole[0] && b === whole[1];
        shown.forEach(draw);
    };
    const show = (curve, figure) => {
        const view = { curve, figure, svg: figure.querySelector('svg') };
        const readout = node('p', '', figure, { className: 'readout' });
        const line = document.createElementNS(view.svg.namespaceURI, 'path');
        line.setAttribute('class', 'zero');
        const place = event => {
            const box = view.svg.getBoundingClientRect();
            return Math.min(Math.max((event.clientX - box.left) / box.width * frame.width, frame.left), frame.right);
        };
        const when = x => from + (x - frame.left) / (frame.right - frame.left) * (to - from);
        let pressed = null;
        view.svg.addEventListener('pointerdown', event => {
            pressed = place(event);
            view.svg.setPointerCapture(event.pointerId);
        });
        view.svg.addEventListener('pointermove', event => {
            const x = place(event), t = when(x);
            let k = index(curve.time, t);
            if (k + 1 < curve.time.length && curve.time[k + 1] - t < t - curve.time[k]) k += 1;
            const [accurate, deviation] = [curve.accurate[k], curve.deviation[k]];
            const unit = curve.unit && ` ${curve.unit}`;
            readout.textContent = `t = ${number(curve.time[k] * time.factor, 6)} ${time.unit}: `
                + `${number(accurate === null || deviation === null ? null : accurate + deviation, 6)}${unit}, `
                + `accurate ${number(accurate, 6)}${unit}, deviation ${number(deviation, 3)}${unit}`;
            const mark = pressed === null ? x : pressed;
            line.setAttribute('d', `M${x} ${frame.top}V${frame.low_bottom}M${mark} ${frame.top}V${frame.low_bottom}`);
            view.svg.append(line);
        });
        view.svg.addEventListener('pointerup', event => {
            const x = place(event), a = pressed;
            pressed = null;
            if (a !== null && Math.abs(x - a) > 5) zoom(when(Math.min(a, x)), when(Math.max(a, x)));
        });
        view.svg.addEventListener('pointercancel', () => { pressed = null; });
        view.svg.addEventListener('pointerleave', () => { line.remove(); readout.textContent = ''; });
        view.svg.addEventListener('dblclick', () => zoom(...whole));
        shown.push(view);
        return view;
    };

    const bar = node('div', '', null, { className: 'pick' });
    plots.before(bar);
    curves.forEach((curve, i) => {
        const label = node('label', '', bar);
        const drawn = plots.querySelector(`[data-curve="${i}"]`);
        let view = drawn && show(curve, drawn);
        const tick = node('input', '', label, { type: 'checkbox', checked: !!drawn });
        label.append(curve.name);
        tick.addEventListener('change', () => {
            if (!view) {
                const figure = node('figure', '', plots);
                const caption = node('figcaption', '', figure), names = node('span', '', caption);
                node('span', curve.name, names, { className: 'name' });
                if (curve.description) node('span', ` ${curve.description}`, names, { className: 'what' });
                if (curve.error) node('span', `error ${curve.error}`, caption, { className: 'error' });
                figure.insertAdjacentHTML('beforeend', `<svg class="chart" viewBox="0 0 ${frame.width} ${frame.height}" role="img"></svg>`);
                figure.querySelector('svg').setAttribute('aria-label', curve.name);
                view = show(curve, figure);
                draw(view);
            }
            view.figure.hidden = !tick.checked;
        });
    });
    const back = node('button', 'whole run', bar, { hidden: true, onclick: () => zoom(...whole) });
    node('span', 'Drag over a curve to zoom into all of them.', bar, { className: 'hint' });
})();
