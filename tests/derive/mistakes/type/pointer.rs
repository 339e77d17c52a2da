use repl::Replicated;

#[derive(Replicated)]
struct Player {
    #[replicated]
    health: u8,
    mesh: *mut u8,
}

impl Default for Player {
    fn default() -> Self {
        Self { health: 0, mesh: std::ptr::null_mut() }
    }
}

fn main() {}
