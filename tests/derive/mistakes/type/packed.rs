use repl::Replicated;

#[derive(Replicated, Default)]
#[repr(C, packed(2))]
struct Player {
    #[replicated]
    health: u32,
}

fn main() {}
