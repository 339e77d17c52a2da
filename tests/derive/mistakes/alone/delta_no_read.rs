use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(delta = lines)]
    lines: String,
}

mod lines {
    use repl::{BitWriter, WriteError};

    pub const NAME: &str = "lines";
    pub type State = String;

    pub fn write(_: &String, _: &String, _: &mut BitWriter) -> Result<(), WriteError> {
        Ok(())
    }
}

fn main() {}
