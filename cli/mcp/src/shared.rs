use crate::backend::Backend;
use crate::cursors::Cursors;
use crate::settings::Settings;
use crate::turns::Turns;

/// What all calls share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) backend: Backend,
    pub(crate) settings: Settings,
    /// How far this client has read.
    pub(crate) cursors: Cursors,
    /// Whose turn it is to type and wait.
    pub(crate) turns: Turns,
}
