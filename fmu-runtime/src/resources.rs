//! The exported FMU's resources: the folder's URI as importers really write it, the plan and the inner FMU in it.

use crate::identity::guid_of;
use crate::plan::{Plan, VERSION};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::path::{Path, PathBuf};

/// The plan's file name in the exported FMU's `resources`.
pub const PLAN: &str = "plan.json";
/// The folder in the exported FMU's `resources` that holds the inner FMU.
pub const INNER: &str = "inner";

/// The plan of an exported FMU that the importer knows by `guid`.
pub fn read_plan(resources: &Path, guid: &str) -> Result<Plan, String> {
    let file = resources.join(PLAN);
    let text = std::fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let plan: Plan =
        serde_json::from_slice(&text).map_err(|error| format!("{} is damaged: {error}", file.display()))?;
    if plan.model.guid != guid {
        return Err(format!(
            "the importer asks for GUID {guid}, but this FMU is {}: modelDescription.xml and {PLAN} do not \
             belong together",
            plan.model.guid
        ));
    }
    // A plan of another version is refused as such, later.
    if plan.version == VERSION && guid_of(&text, &plan).as_deref() != Some(guid) {
        return Err(format!(
            "{} is damaged: GUID {guid} does not follow from it, so it was changed after the build, or belongs to \
             another FMU",
            file.display()
        ));
    }
    Ok(plan)
}

/// The path behind a `fmuResourceLocation`: `file:///path`, `file://host/path`, `file:/path`, with or without
/// `%20`, or simply a path.
pub fn path_from_uri(uri: &str) -> PathBuf {
    let Some(rest) = strip_scheme(uri) else {
        return PathBuf::from(uri); // a plain path: a `%20` in it is meant
    };
    let path = match rest.strip_prefix("//") {
        // An authority: empty, `localhost`, or a host that only Windows can reach.
        Some(with_host) => match with_host.find('/') {
            Some(0) => with_host.to_string(),
            Some(slash) if with_host[..slash].eq_ignore_ascii_case("localhost") => {
                with_host[slash..].to_string()
            }
            // `file://C:/path` and `file://home/path`: sloppy, but meant as paths.
            _ if cfg!(windows) => with_host.to_string(),
            _ => format!("/{with_host}"),
        },
        None => rest.to_string(),
    };
    // What is not valid stays as it is.
    let path = percent_decode_str(&path).decode_utf8().unwrap_or_else(|_| path.as_str().into());
    // `/C:/path` is `C:/path`.
    let bytes = path.as_bytes();
    let drive = bytes.len() > 2 && bytes[0] == b'/' && bytes[1].is_ascii_alphabetic() && bytes[2] == b':';
    PathBuf::from(if drive { &path[1..] } else { &path[..] })
}

fn strip_scheme(uri: &str) -> Option<&str> {
    let scheme = uri.get(..5)?;
    scheme.eq_ignore_ascii_case("file:").then(|| &uri[5..])
}

/// All but letters, digits and what separates parts of a path.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// `file:///...` for an absolute path.
pub fn uri_from_path(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let root = if text.starts_with('/') { "file://" } else { "file:///" };
    format!("{root}{}", utf8_percent_encode(&text, ESCAPED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_that_importers_use_names_the_same_folder() {
        for uri in [
            "file:///tmp/my%20fmu/resources",
            "file:/tmp/my%20fmu/resources",
            "FILE:///tmp/my fmu/resources",
            "file://localhost/tmp/my%20fmu/resources",
            "file:////tmp/my%20fmu/resources",
            "/tmp/my fmu/resources",
            "file://tmp/my%20fmu/resources",
        ] {
            let path = path_from_uri(uri);
            let plain = path.to_string_lossy().replace("//", "/");
            assert_eq!(plain, "/tmp/my fmu/resources", "from {uri}");
        }
        assert_eq!(path_from_uri("file:///C:/a%25b/resources"), PathBuf::from("C:/a%b/resources"));
        assert_eq!(path_from_uri("/tmp/100%20"), PathBuf::from("/tmp/100%20"));
        assert_eq!(path_from_uri("file:///tmp/100%"), PathBuf::from("/tmp/100%"));
    }

    #[test]
    fn a_path_survives_its_uri() {
        for path in ["/tmp/a b/ä%20#?", "/", "/x/y-z_1.~"] {
            assert_eq!(path_from_uri(&uri_from_path(Path::new(path))), PathBuf::from(path));
        }
    }
}
