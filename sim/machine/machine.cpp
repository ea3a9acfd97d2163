// SPDX-License-Identifier: Apache-2.0
#include "machine/machine.hpp"
