//! Print a model description, or without a name all names: `cargo run --example describe --
//! heat-rod:100`.

fn main() -> Result<(), reference_fmus::Error> {
    match std::env::args().nth(1) {
        Some(name) => print!("{}", reference_fmus::find(&name)?.xml()),
        None => {
            for name in reference_fmus::names().into_iter().chain(reference_fmus::hidden_names()) {
                println!("{name}");
            }
        }
    }
    Ok(())
}
