use repl::Replicated;

#[derive(Replicated, Default)]
struct Player<'a> {
    #[replicated]
    health: u16,
    name: &'a str,
}

fn main() {}
