use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(with = heading)]
    heading: f32,
}

mod heading {
    use repl::{BitWriter, WriteError};

    pub const NAME: &str = "heading";

    pub fn write(heading: &f32, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(u64::from(heading.to_bits()), 32);
        Ok(())
    }
}

fn main() {}
