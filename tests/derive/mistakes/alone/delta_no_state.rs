use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(delta = lines)]
    lines: String,
}

mod lines {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub const NAME: &str = "lines";

    pub fn write(_: &String, _: &String, _: &mut BitWriter) -> Result<(), WriteError> {
        Ok(())
    }

    pub fn read(
        base: &String,
        _: &mut BitReader<'_>,
        _: &mut ReferenceMap<'_>,
    ) -> Result<String, ReadError> {
        Ok(base.clone())
    }
}

fn main() {}
