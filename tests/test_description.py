"""Whatever a description that is accepted looks like, the one that is written is well-formed and valid for FMI's schema.

Descriptions of real and reference models are changed at random, from a fixed seed: bytes, attributes, elements, names, namespaces,
processing instructions. Each that fmu-build's reader accepts is rewritten and given to libxml2 with FMI 2.0's own schema.
FMU_BUILD_FUZZ_MUTANTS asks for more of them than the default.
"""

import os
import random
import subprocess
import zipfile
from pathlib import Path

import fmpy
from lxml import etree

ROOT = Path(__file__).parent.parent
MUTANTS = int(os.environ.get("FMU_BUILD_FUZZ_MUTANTS", "1500"))

ODD_TEXTS = ["", " ", "1", "-1", "NaN", "INF", "1e999", "true", "µ", "名", "a b", "&#10;", "&lt;", "&#x1F600;", "x" * 300, "2147483648"]
ODD_NAMES = ["µ", "a:b", "a:b:c", ":a", "a:", "xml:lang", "xmlns:q", "xmlns", "xsi:type", "xsi:nil", "q:Real", "名", "a·b", "×", "Tool", "x.y", "XML", "foo"]
ODD_NODES = ["<? foo ?>", "<?foo?>", "<?xml-stylesheet href='a'?>", "<?XmL a?>", "<!-- a -->", "<![CDATA[ <x> ]]>", "<q:a/>", "<a xmlns='urn:x'/>",
             "<a xmlns:q='urn:q' q:b='1' b='2'/>", "<a xmlns:q=''/>", "<Real/>", "text", "<fmiModelDescription/>", "<a xsi:type='b'/>",
             "<a xmlns:p='urn:x' xmlns:q='urn:x' p:b='1' q:b='2'/>", "<VendorAnnotations><Tool name='t'><a xsi:nil='true'/></Tool></VendorAnnotations>"]


def descriptions():
    for fmu in sorted((ROOT / "tests/data").glob("*.fmu")):
        yield zipfile.ZipFile(fmu).read("modelDescription.xml").decode()
    for xml in sorted((ROOT / "modelDescription/tests").glob("**/*.xml")):
        yield xml.read_text(errors="replace")


def positions(text, what):
    found, at = [], text.find(what)
    while at >= 0:
        found.append(at)
        at = text.find(what, at + 1)
    return found


def mutate(rng, text):
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(7)
        at = rng.randrange(len(text))
        if kind == 0:  # a character
            text = text[:at] + rng.choice(ODD_TEXTS + list("<>&\"'/= ")) + text[at + rng.randint(0, 2):]
        elif kind == 1:  # a value
            quotes = positions(text, '="')
            start = rng.choice(quotes) + 2 if quotes else at
            end = text.find('"', start)
            text = text[:start] + rng.choice(ODD_TEXTS) + text[end:]
        elif kind == 2:  # an attribute more
            ends = positions(text, " name=") + positions(text, " index=") + positions(text, "<Real")
            if ends:
                at = rng.choice(ends)
                at = at + 5 if text[at] == "<" else at
                text = text[:at] + f' {rng.choice(ODD_NAMES)}="{rng.choice(ODD_TEXTS)}"' + text[at:]
        elif kind == 3:  # a node more
            ends = positions(text, ">")
            at = rng.choice(ends) + 1 if ends else at
            text = text[:at] + rng.choice(ODD_NODES) + text[at:]
        elif kind == 4:  # an element less or twice
            starts = positions(text, "<")
            if len(starts) > 2:
                i = rng.randrange(len(starts) - 1)
                piece = text[starts[i]:starts[i + 1]]
                text = text[:starts[i]] + rng.choice(["", piece + piece]) + text[starts[i + 1]:]
        elif kind == 5:  # another name for a tag or an attribute everywhere
            words = ["Real", "ScalarVariable", "Unknown", "name", "start", "causality", "ModelVariables", "description", "unit"]
            text = text.replace(rng.choice(words), rng.choice(ODD_NAMES))
        else:  # a namespace on the root
            spaces = [' xmlns="urn:x"', ' xmlns:q="urn:q"', ' xmlns:q=""', ' xmlns:xml="urn:y"', ' xmlns:xmlns="urn:y"', ' xsi:type="x"', ' xmlns:xsi="urn:other"']
            text = text.replace("<fmiModelDescription", "<fmiModelDescription" + rng.choice(spaces), 1)
    return text


def test_what_is_written_is_valid(tmp_path):
    rng = random.Random(20)
    originals = list(descriptions())
    assert len(originals) > 5
    pairs = []
    for number in range(MUTANTS):
        original = rng.choice(originals)
        if len(original) > 60_000:
            continue
        (tmp_path / f"{number}.xml").write_bytes(mutate(rng, original).encode())
        pairs.append((tmp_path / f"{number}.xml", tmp_path / f"{number}.out"))
    rewrite = ["cargo", "run", "-q", "-p", "model-description", "--example", "rewrite", "--"]
    done = subprocess.run([*rewrite, *(str(file) for pair in pairs for file in pair)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    schema = etree.XMLSchema(file=str(Path(fmpy.__file__).parent / "schema/fmi2/fmi2ModelDescription.xsd"))
    accepted, faults = 0, []
    for given, written in pairs:
        if not written.exists():
            continue
        accepted += 1
        try:
            tree = etree.parse(str(written), etree.XMLParser(huge_tree=True))
        except etree.XMLSyntaxError as error:
            faults.append(f"{given.name}: not well-formed: {error}")
            continue
        if not schema.validate(tree):
            faults.append(f"{given.name}: {schema.error_log[0].message}")
    print(f"{len(pairs)} mutants, {accepted} accepted")
    assert accepted > len(pairs) / 10, f"only {accepted} of {len(pairs)} were accepted"
    assert not faults, f"{len(faults)} of {accepted} accepted:\n" + "\n".join(faults[:20])


def test_descriptions_of_fmi_3_validate(tmp_path):
    """Whatever version a model is of, what is written for it in FMI 3.0 is valid by the schema, and FMPy reads it."""
    folders = ["reference-fmus/xml", "modelDescription/tests/data/nasty", "modelDescription/tests/data/fmi3"]
    files = [file for folder in folders for file in sorted((ROOT / folder).glob("*.xml"))]
    pairs = [(file, tmp_path / f"{number}.fmi3.xml") for number, file in enumerate(files)]
    rewrite = ["cargo", "run", "-q", "-p", "model-description", "--example", "rewrite", "--"]
    done = subprocess.run([*rewrite, *(str(file) for pair in pairs for file in pair)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    schema = etree.XMLSchema(file=str(Path(fmpy.__file__).parent / "schema/fmi3/fmi3ModelDescription.xsd"))
    for given, written in pairs:
        tree = etree.parse(str(written), etree.XMLParser(huge_tree=True))
        assert schema.validate(tree), f"{given.name}: {schema.error_log[0].message}"
        description = fmpy.read_model_description(str(written), validate=False)
        assert description.fmiVersion == "3.0" and description.coSimulation and not description.modelExchange
        references = tree.xpath("/*/ModelVariables/*/@valueReference")
        assert len(set(references)) == len(references), f"{given.name}: two variables share a value reference"
    rod = fmpy.read_model_description(str(pairs[-1][1]), validate=False)
    shapes = {variable.name: [int(it.start) for it in variable.dimensions] for variable in rod.modelVariables}
    assert shapes["T"] == shapes["der(T)"] == [5] and shapes["u"] == [2] and shapes["gain"] == []
