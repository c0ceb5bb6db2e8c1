//! A sandbox whose namespaces and mounts somebody else builds: what is asked for, how it is taken over,
//! and what is done where nobody builds it.
//!
//! It promises that nothing is held that was not looked at from inside. It must not know how the
//! builder is executed.

use super::bubblewrap::Arguments;
use super::survey::Survey;
use super::{Built, Failure, MOUNTED, Plan, Walls, built, paths};
use crate::protocol::confinement::{Builder, Enforcement, MissingWall, Temporary, Wall};
use crate::protocol::message::SpawnStep;

impl Plan {
    /// Who builds what is mounted.
    pub(crate) fn builder(&self) -> Builder {
        self.walls
            .as_ref()
            .map_or(Builder::Termd, |walls| walls.builder)
    }

    /// Whether it is built as far as that is possible.
    pub(crate) fn is_best_effort(&self) -> bool {
        let enforcement = self.walls.as_ref().map(|walls| walls.enforcement);
        enforcement == Some(Enforcement::BestEffort)
    }

    /// What somebody else is to build, and what was found for it. In the child.
    pub(crate) fn survey(
        &self,
        first_empty_file: i32,
        missed: &dyn Fn(MissingWall),
    ) -> Result<Option<(Survey, Arguments)>, Failure> {
        let Some(walls) = &self.walls else {
            return Ok(None);
        };
        let places = &walls.places;
        let survey = Survey::new(places, |(wall, errno)| match (wall, walls.enforcement) {
            // What is to be written to has to be there.
            (Wall::Writes, _) | (_, Enforcement::Required) => {
                Err((SpawnStep::Confine(wall), errno))
            }
            (_, Enforcement::BestEffort) => {
                missed(MissingWall { wall, errno });
                Ok(())
            }
        })?;
        let arguments = Arguments::new(places, &survey, first_empty_file);
        Ok(Some((survey, arguments)))
    }

    /// What is done where bubblewrap cannot be had: the command is refused, or by best effort
    /// confined by what needs no mounts.
    pub(crate) fn without_builder(&self, errno: i32) -> Result<Built<'static>, Failure> {
        if self.is_best_effort() {
            return Ok(Built::Nowhere(errno));
        }
        Err((SpawnStep::Confine(Wall::Bubblewrap), errno))
    }
}

impl Walls {
    /// The same walls where somebody else has built them: each as it can be seen from inside.
    pub(super) fn look_at_mounts(
        &mut self,
        survey: &Survey,
        missed: &dyn Fn(MissingWall),
    ) -> Result<(), Failure> {
        self.stand_before_mounts(missed)?;
        let own = self.attempt(Wall::Namespaces, built::namespaces(survey), missed)?;
        self.identity.entered = own.is_some();
        let devices = self.attempt(Wall::Devices, built::devices(survey), missed)?;
        if devices.is_some() {
            self.places.devices = paths::Devices::Own;
        }
        let read_only = built::read_only_root(&self.places, survey);
        self.attempt(Wall::ReadOnly, read_only, missed)?;
        if self.places.temporary == Temporary::Private {
            let temporary = built::temporary(&mut self.places, survey);
            self.attempt(Wall::Temporary, temporary, missed)?;
        }
        let protected = built::protected(&self.places, survey);
        self.attempt(Wall::Protected, protected, missed)?;
        let hidden = built::hidden(&self.places, survey);
        self.attempt(Wall::Hidden, hidden, missed)?;
        Ok(())
    }

    /// Nothing is mounted: what stands without does.
    pub(super) fn do_without_mounts(
        &mut self,
        errno: i32,
        missed: &dyn Fn(MissingWall),
    ) -> Result<(), Failure> {
        self.stand_before_mounts(missed)?;
        let gone = [Wall::Bubblewrap, Wall::Namespaces];
        for wall in gone.into_iter().chain(MOUNTED) {
            missed(MissingWall { wall, errno });
        }
        Ok(())
    }
}
