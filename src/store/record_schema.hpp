// The tables of the record.
#pragma once

#include "store/migrations.hpp"

namespace skerry::store {

Migrations RecordMigrations();

}  // namespace skerry::store
