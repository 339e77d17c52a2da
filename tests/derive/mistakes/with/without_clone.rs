use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(with = opened)]
    opened: Opened,
}

#[derive(Default)]
struct Opened;

mod opened {
    use super::Opened;
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub const NAME: &str = "opened";

    pub fn write(_: &Opened, _: &mut BitWriter) -> Result<(), WriteError> {
        Ok(())
    }

    pub fn read(_: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Opened, ReadError> {
        Ok(Opened)
    }
}

fn main() {}
